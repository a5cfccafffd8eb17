for path in /proc/self/fd/*; do
    number=${path##*/}
    if [ "$number" -gt 2 ] && [ -e "/proc/$$/fd/$number" ]; then
        target=$(readlink "/proc/$$/fd/$number")
        # 255 is bash's own descriptor of this very file.
        [ "$target" = "$0" ] || { echo "ESCAPED: descriptor $number is $target"; exit; }
    fi
done
echo "HELD: nothing but its own"
