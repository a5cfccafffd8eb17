found = primes(200000)
assert len(found) == 17984 and found[-1] == 199999
assert sum(map(sum, grid(300))) == 90000 * 89999 // 2
nest, depth = nested(80), 0
while nest:
    nest, depth = nest[0], depth + 1
assert depth == 80
