exec head -c 8M /dev/zero > /tmp/big
