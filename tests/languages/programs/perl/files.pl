open my $input, "<", "input.txt" or die;
open my $output, ">", "output.txt" or die;
print {$output} $_ while <$input>;
