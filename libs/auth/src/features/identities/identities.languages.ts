import type { texts } from '../../kit';
import { IDENTITIES_MESSAGES } from './identities.texts';

export const identitiesLanguages: texts.InEachLanguage<texts.WithMessages<keyof typeof IDENTITIES_MESSAGES>> = {
  en: { messages: IDENTITIES_MESSAGES },
  de: {
    messages: {
      'auth.identity_refused': 'Die Anmeldung bei diesem Anbieter wurde nicht abgeschlossen. Beginnen Sie sie neu.',
    },
  },
  fr: {
    messages: {
      'auth.identity_refused': 'La connexion avec ce fournisseur n’a pas abouti. Recommencez.',
    },
  },
  es: {
    messages: {
      'auth.identity_refused': 'El inicio de sesión con este proveedor no se ha completado. Vuelva a empezar.',
    },
  },
  pt: {
    messages: {
      'auth.identity_refused': 'O login com este provedor não foi concluído. Comece de novo.',
    },
  },
  ja: {
    messages: {
      'auth.identity_refused': 'このプロバイダーでのログインは完了しませんでした。もう一度やり直してください。',
    },
  },
};
