half() {
    cd /tmp
    echo $(($1 / 2))
}

set -e
[[ $(half 4) = "2" ]]
half 4 >/dev/null
