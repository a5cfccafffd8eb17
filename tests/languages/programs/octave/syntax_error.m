disp("never"
