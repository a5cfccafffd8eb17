console.log "never
