import type { InEachLanguage, WithMessages } from '../../foundation/languages/catalogue';
import { LOGIN_MESSAGES } from './login.texts';

export const loginLanguages: InEachLanguage<WithMessages<keyof typeof LOGIN_MESSAGES>> = {
  en: { messages: LOGIN_MESSAGES },
  de: {
    messages: {
      'auth.wrong_credentials': 'Diese Zugangsdaten sind nicht korrekt.',
    },
  },
  fr: {
    messages: {
      'auth.wrong_credentials': 'Ces identifiants sont incorrects.',
    },
  },
  es: {
    messages: {
      'auth.wrong_credentials': 'Estas credenciales no son correctas.',
    },
  },
  pt: {
    messages: {
      'auth.wrong_credentials': 'Estas credenciais não estão corretas.',
    },
  },
  ja: {
    messages: {
      'auth.wrong_credentials': 'ログイン情報が正しくありません。',
    },
  },
};
