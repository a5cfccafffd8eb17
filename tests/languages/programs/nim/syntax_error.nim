echo("never"
