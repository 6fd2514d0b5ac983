// A box to write a message in; Ctrl Enter sends it.

import { type ReactNode, useState } from "react";

interface MessageBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  /** True when it was sent; then the box is empty again. */
  readonly onSend: (text: string) => Promise<boolean>;
  readonly disabled?: boolean;
  readonly children?: ReactNode;
}

export function MessageBox({
  label,
  placeholder,
  button,
  onSend,
  disabled = false,
  children,
}: MessageBoxProps): ReactNode {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    if (text.trim() === "" || busy || disabled) return;
    setBusy(true);
    if (await onSend(text.trim())) setText("");
    setBusy(false);
  };
  return (
    <form
      className="col"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        className="input"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        disabled={disabled}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <div className="row">
        {children}
        <span className="grow" />
        <button type="submit" className="button primary" disabled={busy || disabled || text.trim() === ""}>
          {button}
        </button>
      </div>
    </form>
  );
}
