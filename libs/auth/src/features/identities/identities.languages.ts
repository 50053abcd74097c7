import type { texts } from '../../kit';
import { IDENTITIES_MESSAGES } from './identities.texts';

export const identitiesLanguages: texts.InEachLanguage<texts.WithMessages<keyof typeof IDENTITIES_MESSAGES>> = {
  en: { messages: IDENTITIES_MESSAGES },
  de: {
    messages: {
      'auth.identity_not_linked':
        'Diese Anmeldung ist noch mit keinem Konto verknüpft. Melden Sie sich auf andere Weise an, und verknüpfen Sie sie in Ihrem Konto.',
      'auth.identity_refused': 'Die Anmeldung bei diesem Anbieter wurde nicht abgeschlossen. Beginnen Sie sie neu.',
    },
  },
  fr: {
    messages: {
      'auth.identity_not_linked':
        'Cette connexion n’est pas encore liée à un compte. Connectez-vous autrement, puis liez-la dans votre compte.',
      'auth.identity_refused': 'La connexion avec ce fournisseur n’a pas abouti. Recommencez.',
    },
  },
  es: {
    messages: {
      'auth.identity_not_linked':
        'Este inicio de sesión aún no está vinculado a una cuenta. Inicie sesión de otro modo y vincúlelo en su cuenta.',
      'auth.identity_refused': 'El inicio de sesión con este proveedor no se ha completado. Vuelva a empezar.',
    },
  },
  pt: {
    messages: {
      'auth.identity_not_linked':
        'Este login ainda não está vinculado a uma conta. Entre de outra forma e vincule-o na sua conta.',
      'auth.identity_refused': 'O login com este provedor não foi concluído. Comece de novo.',
    },
  },
  ja: {
    messages: {
      'auth.identity_not_linked':
        'このログイン方法はまだアカウントに連携されていません。別の方法でログインし、アカウントで連携してください。',
      'auth.identity_refused': 'このプロバイダーでのログインは完了しませんでした。もう一度やり直してください。',
    },
  },
};
