import type { texts } from '../../kit';
import { IDENTITIES_MESSAGES } from './identities.texts';

export const identitiesLanguages: texts.InEachLanguage<texts.WithMessages<keyof typeof IDENTITIES_MESSAGES>> = {
  en: { messages: IDENTITIES_MESSAGES },
  de: {
    messages: {
      'auth.identity_not_linked':
        'Diese Anmeldung ist noch mit keinem Konto verknüpft. Melden Sie sich auf andere Weise an, und verknüpfen Sie sie in Ihrem Konto.',
      'auth.identity_taken': 'Diese Anmeldung ist bereits mit einem Konto verknüpft.',
      'auth.last_identity':
        'Dies ist Ihre einzige Möglichkeit, sich anzumelden. Legen Sie zuerst ein Passwort fest, fügen Sie einen Passkey hinzu, oder verknüpfen Sie eine andere Anmeldung.',
      'auth.identity_refused': 'Die Anmeldung bei diesem Anbieter wurde nicht abgeschlossen. Beginnen Sie sie neu.',
    },
  },
  fr: {
    messages: {
      'auth.identity_not_linked':
        'Cette connexion n’est pas encore liée à un compte. Connectez-vous autrement, puis liez-la dans votre compte.',
      'auth.identity_taken': 'Cette connexion est déjà liée à un compte.',
      'auth.last_identity':
        'C’est votre seul moyen de vous connecter. Définissez d’abord un mot de passe, ajoutez une clé d’accès ou liez une autre connexion.',
      'auth.identity_refused': 'La connexion avec ce fournisseur n’a pas abouti. Recommencez.',
    },
  },
  es: {
    messages: {
      'auth.identity_not_linked':
        'Este inicio de sesión aún no está vinculado a una cuenta. Inicie sesión de otro modo y vincúlelo en su cuenta.',
      'auth.identity_taken': 'Este inicio de sesión ya está vinculado a una cuenta.',
      'auth.last_identity':
        'Es su única forma de iniciar sesión. Establezca primero una contraseña, añada una llave de acceso o vincule otro inicio de sesión.',
      'auth.identity_refused': 'El inicio de sesión con este proveedor no se ha completado. Vuelva a empezar.',
    },
  },
  pt: {
    messages: {
      'auth.identity_not_linked':
        'Este login ainda não está vinculado a uma conta. Entre de outra forma e vincule-o na sua conta.',
      'auth.identity_taken': 'Este login já está vinculado a uma conta.',
      'auth.last_identity':
        'Esta é a sua única forma de entrar. Defina primeiro uma senha, adicione uma chave de acesso ou vincule outro login.',
      'auth.identity_refused': 'O login com este provedor não foi concluído. Comece de novo.',
    },
  },
  ja: {
    messages: {
      'auth.identity_not_linked':
        'このログイン方法はまだアカウントに連携されていません。別の方法でログインし、アカウントで連携してください。',
      'auth.identity_taken': 'このログイン方法はすでにアカウントに連携されています。',
      'auth.last_identity':
        'ログインできる方法はこれだけです。先にパスワードを設定するか、パスキーを追加するか、別のログイン方法を連携してください。',
      'auth.identity_refused': 'このプロバイダーでのログインは完了しませんでした。もう一度やり直してください。',
    },
  },
};
