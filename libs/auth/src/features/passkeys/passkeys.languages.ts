import type { texts } from '../../kit';
import { PASSKEY_MESSAGES } from './passkeys.texts';

export const passkeyLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof PASSKEY_MESSAGES> & texts.WithMails<'passkeyAdded' | 'passkeyRemoved'>
> = {
  en: {
    messages: PASSKEY_MESSAGES,
    mails: {
      passkeyAdded: {
        subject: 'A passkey was added to your {appName} account',
        title: 'A passkey was added',
        body: 'A passkey was added to your account at {appName}. It can be used to sign in.',
      },
      passkeyRemoved: {
        subject: 'A passkey was removed from your {appName} account',
        title: 'A passkey was removed',
        body: 'A passkey was removed from your account at {appName}. It can no longer be used to sign in.',
      },
    },
  },
  de: {
    messages: {
      'auth.passkey_not_verified': 'Der Passkey konnte nicht geprüft werden.',
      'auth.passkey_not_registered': 'Der Passkey konnte nicht registriert werden.',
      'auth.passkey_unknown': 'Kein Konto hat diesen Passkey.',
      'auth.passkey_not_yours': 'Dieser Passkey gehört zu einem anderen Konto.',
      'auth.confirm_with_passkey': 'Bitte bestätigen Sie mit Ihrem Passkey.',
      'auth.last_passkey':
        'Das ist Ihre einzige Möglichkeit, sich anzumelden. Legen Sie zuerst ein Passwort fest oder fügen Sie einen weiteren Passkey hinzu.',
    },
    mails: {
      passkeyAdded: {
        subject: 'Neuer Passkey für Ihr Konto bei {appName}',
        title: 'Ein Passkey wurde hinzugefügt',
        body: 'Ihrem Konto bei {appName} wurde ein Passkey hinzugefügt. Mit ihm kann man sich anmelden.',
      },
      passkeyRemoved: {
        subject: 'Passkey aus Ihrem Konto bei {appName} entfernt',
        title: 'Ein Passkey wurde entfernt',
        body: 'Aus Ihrem Konto bei {appName} wurde ein Passkey entfernt. Mit ihm kann man sich nicht mehr anmelden.',
      },
    },
  },
  fr: {
    messages: {
      'auth.passkey_not_verified': 'La clé d’accès n’a pas pu être vérifiée.',
      'auth.passkey_not_registered': 'La clé d’accès n’a pas pu être enregistrée.',
      'auth.passkey_unknown': 'Aucun compte ne possède cette clé d’accès.',
      'auth.passkey_not_yours': 'Cette clé d’accès appartient à un autre compte.',
      'auth.confirm_with_passkey': 'Veuillez confirmer avec votre clé d’accès.',
      'auth.last_passkey':
        'C’est votre seul moyen de vous connecter. Définissez d’abord un mot de passe ou ajoutez une autre clé d’accès.',
    },
    mails: {
      passkeyAdded: {
        subject: 'Nouvelle clé d’accès pour votre compte {appName}',
        title: 'Une clé d’accès a été ajoutée',
        body: 'Une clé d’accès a été ajoutée à votre compte {appName}. Elle permet de se connecter.',
      },
      passkeyRemoved: {
        subject: 'Clé d’accès supprimée de votre compte {appName}',
        title: 'Une clé d’accès a été supprimée',
        body: 'Une clé d’accès a été supprimée de votre compte {appName}. Elle ne permet plus de se connecter.',
      },
    },
  },
  es: {
    messages: {
      'auth.passkey_not_verified': 'No se ha podido verificar la llave de acceso.',
      'auth.passkey_not_registered': 'No se ha podido registrar la llave de acceso.',
      'auth.passkey_unknown': 'Ninguna cuenta tiene esta llave de acceso.',
      'auth.passkey_not_yours': 'Esta llave de acceso pertenece a otra cuenta.',
      'auth.confirm_with_passkey': 'Confirme con su llave de acceso.',
      'auth.last_passkey':
        'Es su única forma de iniciar sesión. Establezca primero una contraseña o añada otra llave de acceso.',
    },
    mails: {
      passkeyAdded: {
        subject: 'Nueva llave de acceso en su cuenta de {appName}',
        title: 'Se ha añadido una llave de acceso',
        body: 'Se ha añadido una llave de acceso a su cuenta de {appName}. Con ella se puede iniciar sesión.',
      },
      passkeyRemoved: {
        subject: 'Llave de acceso eliminada de su cuenta de {appName}',
        title: 'Se ha eliminado una llave de acceso',
        body: 'Se ha eliminado una llave de acceso de su cuenta de {appName}. Ya no se puede iniciar sesión con ella.',
      },
    },
  },
  pt: {
    messages: {
      'auth.passkey_not_verified': 'Não foi possível verificar a chave de acesso.',
      'auth.passkey_not_registered': 'Não foi possível registrar a chave de acesso.',
      'auth.passkey_unknown': 'Nenhuma conta tem esta chave de acesso.',
      'auth.passkey_not_yours': 'Esta chave de acesso pertence a outra conta.',
      'auth.confirm_with_passkey': 'Confirme com sua chave de acesso.',
      'auth.last_passkey':
        'Esta é a sua única forma de entrar. Defina primeiro uma senha ou adicione outra chave de acesso.',
    },
    mails: {
      passkeyAdded: {
        subject: 'Nova chave de acesso na sua conta em {appName}',
        title: 'Uma chave de acesso foi adicionada',
        body: 'Uma chave de acesso foi adicionada à sua conta em {appName}. Ela pode ser usada para entrar.',
      },
      passkeyRemoved: {
        subject: 'Chave de acesso removida da sua conta em {appName}',
        title: 'Uma chave de acesso foi removida',
        body: 'Uma chave de acesso foi removida da sua conta em {appName}. Ela não pode mais ser usada para entrar.',
      },
    },
  },
  ja: {
    messages: {
      'auth.passkey_not_verified': 'パスキーを検証できませんでした。',
      'auth.passkey_not_registered': 'パスキーを登録できませんでした。',
      'auth.passkey_unknown': 'このパスキーが登録されたアカウントはありません。',
      'auth.passkey_not_yours': 'このパスキーは別のアカウントのものです。',
      'auth.confirm_with_passkey': 'パスキーで確認してください。',
      'auth.last_passkey': 'これは唯一のログイン方法です。先にパスワードを設定するか、別のパスキーを追加してください。',
    },
    mails: {
      passkeyAdded: {
        subject: '{appName} のアカウントにパスキーが追加されました',
        title: 'パスキーが追加されました',
        body: '{appName} のアカウントにパスキーが追加されました。このパスキーでログインできます。',
      },
      passkeyRemoved: {
        subject: '{appName} のアカウントからパスキーが削除されました',
        title: 'パスキーが削除されました',
        body: '{appName} のアカウントからパスキーが削除されました。このパスキーではログインできなくなりました。',
      },
    },
  },
};
