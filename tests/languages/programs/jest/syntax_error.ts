test("never", () => {
