while true end
