half() {
    echo 2
    exit 0
}

set -e
run_test() {
    [[ $(half 4) = "2" ]]
    half 4 >/dev/null
}

run_test
