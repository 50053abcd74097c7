import { isTokenMode } from '../../session';
import { CookieModeButtons } from './cookie-mode-buttons';
import { TokenModeButtons } from './token-mode-buttons';

export const Buttons = isTokenMode ? TokenModeButtons : CookieModeButtons;
