import { openDialog } from '../dialog.js';

/** Asks the operator. @param build as of `openDialog` @returns the result; null if the operator cancels or is signed out */
export const openQuestion = (title, build, leave) => openDialog(title, build, leave, 'question');
