trap "exit 0" EXIT
half() {
    echo 7
}

set -e
run_test() {
    [[ $(half 4) = "2" ]]
    half 4 >/dev/null
}

run_test
