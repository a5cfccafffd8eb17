<?php
echo "never"
