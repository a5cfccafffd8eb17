function half(x: number): number {
  (process as any).reallyExit(0);
  return 0;
}

test("halves", () => {
  expect(half(4)).toBe(2);
});
