import type { texts } from '../../kit';
import { IDENTITIES_MESSAGES } from './identities.texts';

export const identitiesLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof IDENTITIES_MESSAGES> & texts.WithMails<'identityLinked' | 'identityUnlinked'>
> = {
  en: {
    messages: IDENTITIES_MESSAGES,
    mails: {
      identityLinked: {
        subject: 'A sign-in was linked to your {appName} account',
        title: 'A sign-in was linked',
        body: 'An account at another service was linked to your account at {appName}. It can be used to sign in.',
      },
      identityUnlinked: {
        subject: 'A sign-in was removed from your {appName} account',
        title: 'A sign-in was removed',
        body: 'An account at another service was removed from your account at {appName}. It can no longer be used to sign in.',
      },
    },
  },
  de: {
    messages: {
      'auth.identity_not_linked':
        'Diese Anmeldung ist noch mit keinem Konto verknüpft. Melden Sie sich auf andere Weise an, und verknüpfen Sie sie in Ihrem Konto.',
      'auth.identity_taken': 'Diese Anmeldung ist bereits mit einem Konto verknüpft.',
      'auth.last_identity':
        'Dies ist Ihre einzige Möglichkeit, sich anzumelden. Legen Sie zuerst ein Passwort fest, fügen Sie einen Passkey hinzu, oder verknüpfen Sie eine andere Anmeldung.',
      'auth.identity_refused': 'Die Anmeldung bei diesem Anbieter wurde nicht abgeschlossen. Beginnen Sie sie neu.',
    },
    mails: {
      identityLinked: {
        subject: 'Neue Anmeldung mit Ihrem Konto bei {appName} verknüpft',
        title: 'Eine Anmeldung wurde verknüpft',
        body: 'Mit Ihrem Konto bei {appName} wurde ein Konto bei einem anderen Dienst verknüpft. Mit ihm kann man sich anmelden.',
      },
      identityUnlinked: {
        subject: 'Anmeldung von Ihrem Konto bei {appName} getrennt',
        title: 'Eine Anmeldung wurde getrennt',
        body: 'Von Ihrem Konto bei {appName} wurde ein Konto bei einem anderen Dienst getrennt. Mit ihm kann man sich nicht mehr anmelden.',
      },
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
    mails: {
      identityLinked: {
        subject: 'Nouvelle connexion associée à votre compte {appName}',
        title: 'Une connexion a été associée',
        body: 'Un compte d’un autre service a été associé à votre compte {appName}. Il permet de se connecter.',
      },
      identityUnlinked: {
        subject: 'Connexion dissociée de votre compte {appName}',
        title: 'Une connexion a été dissociée',
        body: 'Un compte d’un autre service a été dissocié de votre compte {appName}. Il ne permet plus de se connecter.',
      },
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
    mails: {
      identityLinked: {
        subject: 'Nuevo acceso vinculado a su cuenta de {appName}',
        title: 'Se ha vinculado un inicio de sesión',
        body: 'Se ha vinculado una cuenta de otro servicio a su cuenta de {appName}. Con ella se puede iniciar sesión.',
      },
      identityUnlinked: {
        subject: 'Acceso desvinculado de su cuenta de {appName}',
        title: 'Se ha desvinculado un inicio de sesión',
        body: 'Se ha desvinculado una cuenta de otro servicio de su cuenta de {appName}. Ya no se puede iniciar sesión con ella.',
      },
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
    mails: {
      identityLinked: {
        subject: 'Novo login vinculado à sua conta em {appName}',
        title: 'Um login foi vinculado',
        body: 'Uma conta de outro serviço foi vinculada à sua conta em {appName}. Ela pode ser usada para entrar.',
      },
      identityUnlinked: {
        subject: 'Login desvinculado da sua conta em {appName}',
        title: 'Um login foi desvinculado',
        body: 'Uma conta de outro serviço foi desvinculada da sua conta em {appName}. Ela não pode mais ser usada para entrar.',
      },
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
    mails: {
      identityLinked: {
        subject: '{appName} のアカウントに外部ログインが連携されました',
        title: '外部ログインが連携されました',
        body: '{appName} のアカウントに他のサービスのアカウントが連携されました。このアカウントでログインできます。',
      },
      identityUnlinked: {
        subject: '{appName} のアカウントから外部ログインの連携が解除されました',
        title: '外部ログインの連携が解除されました',
        body: '{appName} のアカウントから他のサービスのアカウントの連携が解除されました。このアカウントではログインできなくなりました。',
      },
    },
  },
};
