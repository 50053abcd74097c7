import type { texts } from '../../kit';
import { PASSWORD_RESET_MESSAGES } from './password-reset.texts';

export const passwordResetLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof PASSWORD_RESET_MESSAGES> & texts.WithMails<'passwordReset'>
> = {
  en: {
    messages: PASSWORD_RESET_MESSAGES,
    mails: {
      passwordReset: {
        subject: 'Reset your {appName} password',
        preheader: 'Choose a new password with the link in this mail.',
        title: 'Reset your password',
        body: 'A password reset was requested for your account at {appName}.',
        link: 'Choose a new password',
        note: 'If you did not request it, ignore this mail: nothing has changed.',
      },
    },
  },
  de: {
    messages: {
      'auth.reset_failed':
        'Dieser Link zum Zurücksetzen des Passworts ist nicht mehr gültig. Bitte fordern Sie einen neuen an.',
    },
    mails: {
      passwordReset: {
        subject: 'Neues Passwort für {appName} wählen',
        preheader: 'Wählen Sie mit dem Link in dieser E-Mail ein neues Passwort.',
        title: 'Passwort zurücksetzen',
        body: 'Für Ihr Konto bei {appName} wurde angefordert, das Passwort zurückzusetzen.',
        link: 'Neues Passwort wählen',
        note: 'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail. Es hat sich nichts geändert.',
      },
    },
  },
  fr: {
    messages: {
      'auth.reset_failed':
        'Ce lien de réinitialisation du mot de passe n’est plus valable. Veuillez en demander un nouveau.',
    },
    mails: {
      passwordReset: {
        subject: 'Réinitialisez votre mot de passe {appName}',
        preheader: 'Choisissez un nouveau mot de passe avec le lien de cet e-mail.',
        title: 'Réinitialiser votre mot de passe',
        body: 'La réinitialisation du mot de passe de votre compte {appName} a été demandée.',
        link: 'Choisir un nouveau mot de passe',
        note: 'Si vous n’avez pas fait cette demande, ignorez cet e-mail : rien n’a changé.',
      },
    },
  },
  es: {
    messages: {
      'auth.reset_failed': 'Este enlace para restablecer la contraseña ya no es válido. Solicite uno nuevo.',
    },
    mails: {
      passwordReset: {
        subject: 'Restablezca su contraseña de {appName}',
        preheader: 'Elija una contraseña nueva con el enlace de este mensaje.',
        title: 'Restablecer la contraseña',
        body: 'Se ha solicitado restablecer la contraseña de su cuenta de {appName}.',
        link: 'Elegir una contraseña nueva',
        note: 'Si no lo ha solicitado usted, ignore este mensaje: no ha cambiado nada.',
      },
    },
  },
  pt: {
    messages: { 'auth.reset_failed': 'Este link para redefinir a senha não é mais válido. Solicite um novo.' },
    mails: {
      passwordReset: {
        subject: 'Redefina sua senha em {appName}',
        preheader: 'Escolha uma nova senha com o link deste e-mail.',
        title: 'Redefinir sua senha',
        body: 'Foi solicitada a redefinição da senha da sua conta em {appName}.',
        link: 'Escolher uma nova senha',
        note: 'Se você não fez essa solicitação, ignore este e-mail: nada mudou.',
      },
    },
  },
  ja: {
    messages: {
      'auth.reset_failed': 'このパスワード再設定用リンクは無効になっています。新しいリンクをリクエストしてください。',
    },
    mails: {
      passwordReset: {
        subject: '{appName} のパスワード再設定',
        preheader: 'このメールのリンクから新しいパスワードを設定してください。',
        title: 'パスワードの再設定',
        body: '{appName} のアカウントについて、パスワードの再設定がリクエストされました。',
        link: '新しいパスワードを設定する',
        note: 'お心当たりがない場合は、このメールを破棄してください。変更は行われていません。',
      },
    },
  },
};
