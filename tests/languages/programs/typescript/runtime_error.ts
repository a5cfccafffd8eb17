const text: string | undefined = [][0];
console.log(text!.length);
