half <- function(x) x / 2

test <- function() {
    stopifnot(isTRUE(all.equal(half(4), 2)))
}
test()
