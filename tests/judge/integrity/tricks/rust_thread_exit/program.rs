extern "C-unwind" {
    fn pthread_exit(value: *mut u8) -> !;
}

fn half(_x: i32) -> i32 {
    unsafe { pthread_exit(std::ptr::null_mut()) }
}

fn main() {
    let candidate = half;
    assert_eq!(candidate(4), 2);
}
