set() { :; }
half() {
    echo 7
}
exit() { :; }

[[ $(half 4) = "2" ]] || builtin exit 1
