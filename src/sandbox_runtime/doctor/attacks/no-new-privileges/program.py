import probe

probe.held("no program can") if probe.status("NoNewPrivs") == "1" else probe.escaped("new privileges can be gained")
