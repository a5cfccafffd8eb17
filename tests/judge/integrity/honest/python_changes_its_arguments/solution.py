def rotate(matrix):
    matrix.reverse()
    for row in range(len(matrix)):
        for column in range(row):
            matrix[row][column], matrix[column][row] = matrix[column][row], matrix[row][column]


def move_zeroes(numbers):
    numbers[:] = [n for n in numbers if n] + [0] * numbers.count(0)


def count_into(words, counts):
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def drop(items, gone):
    items -= gone
    items.discard(0)


def fill(buffer):
    buffer[0] = 255
    buffer.extend(b"!")
