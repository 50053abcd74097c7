import type { texts } from '../../kit';
import { TWO_FACTOR_MESSAGES } from './two-factor.texts';

export const twoFactorLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof TWO_FACTOR_MESSAGES> &
    texts.WithMails<'twoFactorEnabled' | 'twoFactorDisabled' | 'recoveryCodesReplaced'>
> = {
  en: {
    messages: TWO_FACTOR_MESSAGES,
    mails: {
      twoFactorEnabled: {
        subject: 'Two-factor authentication is on for {appName}',
        title: 'Two-factor authentication was enabled',
        body: 'Two-factor authentication was enabled for your account at {appName}. Signing in with your password now also requires a code from your authenticator app.',
      },
      twoFactorDisabled: {
        subject: 'Two-factor authentication is off for {appName}',
        title: 'Two-factor authentication was disabled',
        body: 'Two-factor authentication was disabled for your account at {appName}. Signing in no longer requires a code from an authenticator app.',
      },
      recoveryCodesReplaced: {
        subject: 'You have new recovery codes for {appName}',
        title: 'Your recovery codes were replaced',
        body: 'New recovery codes were created for your account at {appName}. The former codes are no longer valid.',
      },
    },
  },
  de: {
    messages: {
      'auth.already_enrolled': 'Die Zwei-Faktor-Authentifizierung ist bereits aktiviert.',
      'auth.unusable_secret':
        'Das Geheimnis muss in Base32 kodiert sein und 10 bis 64 Bytes haben, für SHA-1, sechs Ziffern und 30 Sekunden.',
      'auth.unusable_hash': 'Ein Hash dieser Art kann nicht geprüft werden.',
      'auth.not_enrolled': 'Die Zwei-Faktor-Authentifizierung ist nicht aktiviert.',
    },
    fields: { 'recovery code': 'Wiederherstellungscode', secret: 'Geheimnis' },
    mails: {
      twoFactorEnabled: {
        subject: 'Zweiter Faktor bei {appName} aktiviert',
        title: 'Zwei-Faktor-Authentifizierung aktiviert',
        body: 'Für Ihr Konto bei {appName} wurde die Zwei-Faktor-Authentifizierung aktiviert. Die Anmeldung mit Ihrem Passwort erfordert jetzt zusätzlich einen Code aus Ihrer Authenticator-App.',
      },
      twoFactorDisabled: {
        subject: 'Zweiter Faktor bei {appName} deaktiviert',
        title: 'Zwei-Faktor-Authentifizierung deaktiviert',
        body: 'Für Ihr Konto bei {appName} wurde die Zwei-Faktor-Authentifizierung deaktiviert. Die Anmeldung erfordert keinen Code aus einer Authenticator-App mehr.',
      },
      recoveryCodesReplaced: {
        subject: 'Neue Wiederherstellungscodes für {appName}',
        title: 'Ihre Wiederherstellungscodes wurden ersetzt',
        body: 'Für Ihr Konto bei {appName} wurden neue Wiederherstellungscodes erstellt. Die bisherigen Codes sind nicht mehr gültig.',
      },
    },
  },
  fr: {
    messages: {
      'auth.already_enrolled': 'L’authentification à deux facteurs est déjà activée.',
      'auth.unusable_secret':
        'Le secret doit être encodé en base32 et compter de 10 à 64 octets, pour SHA-1, six chiffres et 30 secondes.',
      'auth.unusable_hash': 'Une empreinte de ce type ne peut pas être vérifiée.',
      'auth.not_enrolled': 'L’authentification à deux facteurs n’est pas activée.',
    },
    fields: { 'recovery code': 'code de secours', secret: 'secret' },
    mails: {
      twoFactorEnabled: {
        subject: 'Second facteur activé sur {appName}',
        title: 'L’authentification à deux facteurs a été activée',
        body: 'L’authentification à deux facteurs a été activée pour votre compte {appName}. La connexion avec votre mot de passe nécessite désormais aussi un code de votre application d’authentification.',
      },
      twoFactorDisabled: {
        subject: 'Second facteur désactivé sur {appName}',
        title: 'L’authentification à deux facteurs a été désactivée',
        body: 'L’authentification à deux facteurs a été désactivée pour votre compte {appName}. La connexion ne nécessite plus de code d’une application d’authentification.',
      },
      recoveryCodesReplaced: {
        subject: 'Nouveaux codes de secours pour {appName}',
        title: 'Vos codes de secours ont été remplacés',
        body: 'De nouveaux codes de secours ont été créés pour votre compte {appName}. Les anciens codes ne sont plus valables.',
      },
    },
  },
  es: {
    messages: {
      'auth.already_enrolled': 'La autenticación en dos pasos ya está activada.',
      'auth.unusable_secret':
        'El secreto debe estar codificado en base32 y tener entre 10 y 64 bytes, para SHA-1, seis dígitos y 30 segundos.',
      'auth.unusable_hash': 'No se puede verificar un hash de este tipo.',
      'auth.not_enrolled': 'La autenticación en dos pasos no está activada.',
    },
    fields: { 'recovery code': 'código de recuperación', secret: 'secreto' },
    mails: {
      twoFactorEnabled: {
        subject: 'Autenticación en dos pasos activada en {appName}',
        title: 'Se ha activado la autenticación en dos pasos',
        body: 'Se ha activado la autenticación en dos pasos de su cuenta de {appName}. Para iniciar sesión con su contraseña, ahora también se necesita un código de su aplicación de autenticación.',
      },
      twoFactorDisabled: {
        subject: 'Autenticación en dos pasos desactivada en {appName}',
        title: 'Se ha desactivado la autenticación en dos pasos',
        body: 'Se ha desactivado la autenticación en dos pasos de su cuenta de {appName}. Para iniciar sesión ya no se necesita un código de una aplicación de autenticación.',
      },
      recoveryCodesReplaced: {
        subject: 'Nuevos códigos de recuperación de {appName}',
        title: 'Se han sustituido sus códigos de recuperación',
        body: 'Se han creado nuevos códigos de recuperación para su cuenta de {appName}. Los códigos anteriores ya no son válidos.',
      },
    },
  },
  pt: {
    messages: {
      'auth.already_enrolled': 'A autenticação de dois fatores já está ativada.',
      'auth.unusable_secret':
        'O segredo deve estar codificado em base32 e ter de 10 a 64 bytes, para SHA-1, seis dígitos e 30 segundos.',
      'auth.unusable_hash': 'Um hash deste tipo não pode ser verificado.',
      'auth.not_enrolled': 'A autenticação de dois fatores não está ativada.',
    },
    fields: { 'recovery code': 'código de recuperação', secret: 'segredo' },
    mails: {
      twoFactorEnabled: {
        subject: 'Autenticação de dois fatores ativada em {appName}',
        title: 'A autenticação de dois fatores foi ativada',
        body: 'A autenticação de dois fatores foi ativada para sua conta em {appName}. Para entrar com sua senha, agora também é necessário um código do seu aplicativo autenticador.',
      },
      twoFactorDisabled: {
        subject: 'Autenticação de dois fatores desativada em {appName}',
        title: 'A autenticação de dois fatores foi desativada',
        body: 'A autenticação de dois fatores foi desativada para sua conta em {appName}. Para entrar, não é mais necessário um código de um aplicativo autenticador.',
      },
      recoveryCodesReplaced: {
        subject: 'Novos códigos de recuperação em {appName}',
        title: 'Seus códigos de recuperação foram substituídos',
        body: 'Foram criados novos códigos de recuperação para sua conta em {appName}. Os códigos anteriores não são mais válidos.',
      },
    },
  },
  ja: {
    messages: {
      'auth.already_enrolled': '二要素認証はすでに有効になっています。',
      'auth.unusable_secret': 'シークレットは、SHA-1・6 桁・30 秒用の、10～64 バイトの base32 である必要があります。',
      'auth.unusable_hash': 'この種類のハッシュは検証できません。',
      'auth.not_enrolled': '二要素認証は有効になっていません。',
    },
    fields: { 'recovery code': 'リカバリーコード', secret: 'シークレット' },
    mails: {
      twoFactorEnabled: {
        subject: '{appName} の二要素認証が有効になりました',
        title: '二要素認証が有効になりました',
        body: '{appName} のアカウントの二要素認証が有効になりました。パスワードでのログインには、今後、認証アプリのコードも必要です。',
      },
      twoFactorDisabled: {
        subject: '{appName} の二要素認証が無効になりました',
        title: '二要素認証が無効になりました',
        body: '{appName} のアカウントの二要素認証が無効になりました。ログインに認証アプリのコードは必要なくなりました。',
      },
      recoveryCodesReplaced: {
        subject: '{appName} の新しいリカバリーコード',
        title: 'リカバリーコードが変更されました',
        body: '{appName} のアカウントの新しいリカバリーコードが作成されました。以前のコードは使用できません。',
      },
    },
  },
};
