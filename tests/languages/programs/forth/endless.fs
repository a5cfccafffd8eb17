: turn begin again ;
turn
