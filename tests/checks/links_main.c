/* The main of the link checks: there is nothing to run. */
int main(void)
{
    return 0;
}
