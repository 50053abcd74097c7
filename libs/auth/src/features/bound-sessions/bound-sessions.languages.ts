import type { texts } from '../../kit';
import { BOUND_SESSIONS_MESSAGES } from './bound-sessions.texts';

export const boundSessionsLanguages: texts.InEachLanguage<texts.WithMessages<keyof typeof BOUND_SESSIONS_MESSAGES>> = {
  en: { messages: BOUND_SESSIONS_MESSAGES },
  de: {
    messages: {
      'auth.invalid_proof':
        'Dieses Gerät konnte seinen Schlüssel nicht nachweisen. Prüfen Sie Datum und Uhrzeit, und versuchen Sie es erneut.',
    },
  },
  fr: {
    messages: {
      'auth.invalid_proof': 'Cet appareil n’a pas pu prouver sa clé. Vérifiez sa date et son heure, puis réessayez.',
    },
  },
  es: {
    messages: {
      'auth.invalid_proof':
        'Este dispositivo no ha podido demostrar su clave. Compruebe la fecha y la hora e inténtelo de nuevo.',
    },
  },
  pt: {
    messages: {
      'auth.invalid_proof':
        'Este dispositivo não conseguiu comprovar sua chave. Verifique a data e a hora e tente novamente.',
    },
  },
  ja: {
    messages: {
      'auth.invalid_proof': 'この端末の鍵を確認できませんでした。日付と時刻を確認して、もう一度お試しください。',
    },
  },
};
