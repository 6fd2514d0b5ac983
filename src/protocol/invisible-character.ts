// Which characters a reader does not see, or sees in another order: controls, marks without a shape, line breaks of Unicode.

/** Controls, characters without a shape of their own, other line breaks, and lone halves of characters. */
export const invisibleCharacter = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;
