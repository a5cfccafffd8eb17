console.log "x".repeat 99 for row in [1..50000]
