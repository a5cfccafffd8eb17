<?php
while (true);
