console.log("never"
