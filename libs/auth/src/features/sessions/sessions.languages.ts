import type { InEachLanguage, WithMessages } from '../../foundation/languages/catalogue';
import { SESSION_MESSAGES } from './sessions.texts';

export const sessionLanguages: InEachLanguage<WithMessages<keyof typeof SESSION_MESSAGES>> = {
  en: { messages: SESSION_MESSAGES },
  de: {
    messages: {
      'auth.unverified_login': 'Bitte bestätigen Sie Ihre E-Mail-Adresse, bevor Sie sich anmelden.',
      'auth.refresh_failed': 'Die Sitzung konnte nicht verlängert werden. Bitte melden Sie sich erneut an.',
      'auth.no_session': 'Dieses Token gehört zu keiner Sitzung, daher gibt es nichts zu beenden.',
    },
  },
  fr: {
    messages: {
      'auth.unverified_login': 'Veuillez confirmer votre adresse e-mail avant de vous connecter.',
      'auth.refresh_failed': 'La session n’a pas pu être prolongée. Veuillez vous reconnecter.',
      'auth.no_session': 'Ce jeton n’appartient à aucune session : il n’y a rien à terminer.',
    },
  },
  es: {
    messages: {
      'auth.unverified_login': 'Confirme su dirección de correo electrónico antes de iniciar sesión.',
      'auth.refresh_failed': 'No se ha podido renovar la sesión. Vuelva a iniciar sesión.',
      'auth.no_session': 'Este token no pertenece a ninguna sesión, por lo que no hay nada que cerrar.',
    },
  },
  pt: {
    messages: {
      'auth.unverified_login': 'Confirme seu endereço de e-mail antes de entrar.',
      'auth.refresh_failed': 'Não foi possível renovar a sessão. Entre novamente.',
      'auth.no_session': 'Este token não pertence a nenhuma sessão, portanto não há nada para encerrar.',
    },
  },
  ja: {
    messages: {
      'auth.unverified_login': 'ログインする前にメールアドレスを確認してください。',
      'auth.refresh_failed': 'セッションを更新できませんでした。もう一度ログインしてください。',
      'auth.no_session': 'このトークンに対応するセッションがないため、終了するものがありません。',
    },
  },
};
