const never: string = ;
