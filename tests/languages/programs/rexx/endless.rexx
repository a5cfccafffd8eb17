do forever
end
