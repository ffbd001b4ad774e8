//! `tidemill completions` and `tidemill man`: what a shell and `man` want to know of the commands, made of their arguments.

use std::io::Cursor;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use tidemill_connectors::console::Console;
use tidemill_core::{Error, Result};

use crate::whole_files::WholeFiles;

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill completions bash > ~/.local/share/bash-completion/completions/tidemill
  tidemill completions zsh > ~/.zfunc/_tidemill                  with 'fpath+=~/.zfunc' before compinit in ~/.zshrc
  tidemill completions fish > ~/.config/fish/completions/tidemill.fish

Exit codes: 0 well; 2 usage.")]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the completions of a shell for `command`.
pub(crate) fn completions(arguments: &CompletionsArguments, mut command: Command) -> Result<ExitCode> {
    let mut script = Cursor::new(vec![]);
    clap_complete::generate(arguments.shell, &mut command, "tidemill", &mut script);
    Console::Output.write(script.get_ref())?;
    Ok(ExitCode::SUCCESS)
}

/// Write the man pages to a folder: tidemill.1, and one for each command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tidemill man ~/.local/share/man/man1

Exit codes: 0 well; 1 the folder can't be written; 2 usage.")]
pub(crate) struct ManArguments {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the man pages of `command`.
pub(crate) fn man(arguments: &ManArguments, command: Command) -> Result<ExitCode> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut files = WholeFiles::create(&arguments.folder)?;
    write_pages(command, &mut files)?;
    files.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command, and those of the commands below it.
fn write_pages(command: Command, files: &mut WholeFiles) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()).cloned() {
        write_pages(below, files)?;
    }
    let page = Man::new(command);
    let mut text = vec![];
    page.render(&mut text).map_err(|e| Error::internal(format!("a man page can't be made: {e}")).because(e))?;
    files.write(&page.get_filename(), &text)
}
