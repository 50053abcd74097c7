import type { InEachLanguage, WithMessages } from '../../foundation/languages/catalogue';
import { STEP_UP_MESSAGES } from './step-up.texts';

export const stepUpLanguages: InEachLanguage<WithMessages<keyof typeof STEP_UP_MESSAGES>> = {
  en: { messages: STEP_UP_MESSAGES },
  de: {
    messages: {
      'auth.wrong_password': 'Das Passwort ist nicht korrekt.',
      'auth.confirmation_required': 'Bitte bestätigen Sie Ihre Identität, um fortzufahren.',
      'auth.recent_login_required': 'Bitte melden Sie sich erneut an, um fortzufahren.',
      'auth.factor_required': 'Bitte melden Sie sich mit einem zweiten Faktor an, um fortzufahren.',
    },
  },
  fr: {
    messages: {
      'auth.wrong_password': 'Le mot de passe est incorrect.',
      'auth.confirmation_required': 'Veuillez confirmer votre identité pour continuer.',
      'auth.recent_login_required': 'Veuillez vous reconnecter pour continuer.',
      'auth.factor_required': 'Veuillez vous connecter avec un second facteur pour continuer.',
    },
  },
  es: {
    messages: {
      'auth.wrong_password': 'La contraseña no es correcta.',
      'auth.confirmation_required': 'Confirme su identidad para continuar.',
      'auth.recent_login_required': 'Inicie sesión de nuevo para continuar.',
      'auth.factor_required': 'Inicie sesión con un segundo factor para continuar.',
    },
  },
  pt: {
    messages: {
      'auth.wrong_password': 'A senha não está correta.',
      'auth.confirmation_required': 'Confirme sua identidade para continuar.',
      'auth.recent_login_required': 'Entre novamente para continuar.',
      'auth.factor_required': 'Entre com um segundo fator para continuar.',
    },
  },
  ja: {
    messages: {
      'auth.wrong_password': 'パスワードが正しくありません。',
      'auth.confirmation_required': '続行するには本人確認を行ってください。',
      'auth.recent_login_required': '続行するにはもう一度ログインしてください。',
      'auth.factor_required': '続行するには第二要素でログインしてください。',
    },
  },
};
