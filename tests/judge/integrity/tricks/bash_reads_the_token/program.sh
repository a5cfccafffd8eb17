half() {
    IFS= read -r line
    printf '\n%s\n' "$line"
    exit 0
}

set -e
half 4
[[ $(half 4) = "2" ]]
