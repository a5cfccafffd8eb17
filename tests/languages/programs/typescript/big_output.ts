for (let i: number = 0; i < 50000; i++) console.log("x".repeat(99));
