half() {
    echo $(($1 / 2))
}

set -e
run_test() {
    [[ $(half 4) = "2" ]]
    half 4 >/dev/null
}

run_test
