import type { InEachLanguage, WithMessages } from '../../foundation/languages/catalogue';
import { LOGIN_MESSAGES } from './login.texts';

export const loginLanguages: InEachLanguage<WithMessages<keyof typeof LOGIN_MESSAGES>> = {
  en: { messages: LOGIN_MESSAGES },
  de: {
    messages: {
      'auth.wrong_credentials': 'Diese Zugangsdaten sind nicht korrekt.',
      'auth.unverified_login': 'Bitte bestätigen Sie Ihre E-Mail-Adresse, bevor Sie sich anmelden.',
    },
  },
  fr: {
    messages: {
      'auth.wrong_credentials': 'Ces identifiants sont incorrects.',
      'auth.unverified_login': 'Veuillez confirmer votre adresse e-mail avant de vous connecter.',
    },
  },
  es: {
    messages: {
      'auth.wrong_credentials': 'Estas credenciales no son correctas.',
      'auth.unverified_login': 'Confirme su dirección de correo electrónico antes de iniciar sesión.',
    },
  },
  pt: {
    messages: {
      'auth.wrong_credentials': 'Estas credenciais não estão corretas.',
      'auth.unverified_login': 'Confirme seu endereço de e-mail antes de entrar.',
    },
  },
  ja: {
    messages: {
      'auth.wrong_credentials': 'ログイン情報が正しくありません。',
      'auth.unverified_login': 'ログインする前にメールアドレスを確認してください。',
    },
  },
};
