function half(x: number): number {
  return x / 2;
}

test("halves", () => {
  expect(half(4)).toBe(2);
});
