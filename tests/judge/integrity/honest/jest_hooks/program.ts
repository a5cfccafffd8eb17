let ready = false;

function half(x: number): number {
  return x / 2;
}

beforeAll(() => {
  ready = true;
});
afterAll(() => console.log("over"));

describe("half", () => {
  test.each([
    [4, 2],
    [3, 1.5],
  ])("of %d", (x, wanted) => {
    expect(ready && half(x)).toBe(wanted);
  });
  test("waits", async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
});
