test("prints", () => {
  for (let i = 0; i < 50000; i++) process.stdout.write("x".repeat(99) + "\n");
});
