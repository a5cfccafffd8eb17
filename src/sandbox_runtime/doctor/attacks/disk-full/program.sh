set -e
head -c 8M /dev/zero > /tmp/big
echo "ESCAPED: 8 MiB written"
