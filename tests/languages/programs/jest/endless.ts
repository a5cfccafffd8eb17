test("endless", () => {
  for (;;);
});
