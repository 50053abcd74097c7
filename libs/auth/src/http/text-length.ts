/** Whether a text has more than `most` characters. One is two units at most, so what is vast is not counted. */
export const isLongerThan = (text: string, most: number): boolean => text.length > 2 * most || [...text].length > most;
