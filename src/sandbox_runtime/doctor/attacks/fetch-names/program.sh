printf fetched > honest
echo "HELD: one file is there"
