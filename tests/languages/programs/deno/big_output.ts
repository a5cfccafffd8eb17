for (let row = 0; row < 50000; row++) console.log("x".repeat(99));
